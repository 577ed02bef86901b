//! A file in storage while it is written: it goes up in parts as they come together, and appears whole
//! when it is complete, or not at all. Called by exports.

use std::io::{self, Write};
use std::mem;

use agon_outlets::InLine as _;
use bytes::Bytes;
use object_store::aws::AmazonS3;
use object_store::path::Path as ObjectPath;
use object_store::{ObjectStoreExt as _, WriteMultipart};
use tokio::runtime::Handle;

use super::{PART, PARTS_AT_ONCE, said};
use crate::output;

/// See the module. What is dropped before it is complete leaves nothing.
pub struct ObjectFile {
    store: AmazonS3,
    path: ObjectPath,
    runtime: Handle,
    /// What is not on its way yet, at most a part.
    buffer: Vec<u8>,
    /// Begun with the first part that is full.
    upload: Option<WriteMultipart>,
}

impl ObjectFile {
    pub(super) fn new(store: AmazonS3, path: ObjectPath, runtime: Handle) -> Self {
        Self {
            store,
            path,
            runtime,
            buffer: Vec::new(),
            upload: None,
        }
    }

    /// Lets it appear.
    ///
    /// # Errors
    /// What the storage said; then there is nothing.
    pub fn complete(mut self) -> io::Result<()> {
        let rest = Bytes::from(mem::take(&mut self.buffer));
        let completed = match self.upload.take() {
            None => {
                let put = self.store.put(&self.path, rest.into());
                self.runtime.block_on(put)
            }
            Some(mut upload) => {
                let runtime = self.runtime.clone();
                let _spawning = runtime.enter();
                upload.put(rest);
                // A part that fails takes the others along.
                runtime.block_on(upload.finish())
            }
        };
        completed.map(drop).map_err(other)
    }

    fn send(&mut self) -> io::Result<()> {
        let runtime = self.runtime.clone();
        let _spawning = runtime.enter();
        let upload = match &mut self.upload {
            Some(upload) => upload,
            None => {
                let begun = runtime.block_on(self.store.put_multipart(&self.path));
                let begun = begun.map_err(other)?;
                self.upload
                    .insert(WriteMultipart::new_with_chunk_size(begun, PART))
            }
        };
        let room = runtime.block_on(upload.wait_for_capacity(PARTS_AT_ONCE));
        room.map_err(other)?;
        upload.put(mem::take(&mut self.buffer).into());
        Ok(())
    }
}

impl Write for ObjectFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.buffer.len());
        let (taken, _) = bytes.split_at(taken);
        self.buffer.extend_from_slice(taken);
        if self.buffer.len() == PART {
            self.send()?;
        }
        Ok(taken.len())
    }

    /// Parts are not made smaller for it.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for ObjectFile {
    fn drop(&mut self) {
        let Some(upload) = self.upload.take() else {
            return;
        };
        if self.runtime.block_on(upload.abort()).is_err() {
            output::tell(&format!(
                "parts of {} lie in storage until the bucket's rule for unfinished uploads removes \
                 them",
                self.path.as_ref().in_line()
            ));
        }
    }
}

fn other(error: object_store::Error) -> io::Error {
    io::Error::other(said(&error))
}
