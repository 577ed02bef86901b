//! The folder of a published site: made beside its place and put there whole, with the SHA-256 of every
//! file. What another site of this program left there is replaced; what anybody else put there stays, and
//! stands in the way only where a file of the same name would have to be replaced.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;
use agon_service_kit::secrets;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use crate::data_folder::cannot;
use crate::exporting::{LOCK, claim};
use crate::failure::Failure;
use crate::run_folder::MOST_BESIDE_BYTES;

/// The file with the digests of all others, as `sha256sum` reads it.
pub const SUMS: &str = "SHA256SUMS";

/// The file that says what a site is.
pub const ABOUT: &str = "agon-site.json";

/// Bytes in a megabyte.
const MEGABYTE: u64 = 1_000_000;

/// Paths with their digests.
type Sums = BTreeMap<String, String>;

/// See the module.
pub struct SiteFolder {
    out: PathBuf,
    /// Where it is until it is whole.
    draft: PathBuf,
    /// Held as long as the draft is written.
    _lock: File,
    /// What the site has that lies there now.
    before: Sums,
    sums: Sums,
    bytes: u64,
    most_megabytes: u64,
}

impl SiteFolder {
    /// A site in a folder that does not exist yet, has nothing in it or has an unchanged site of this
    /// program.
    ///
    /// # Errors
    /// Something else is there, or it cannot be written.
    pub fn begin(out: &Path, most_megabytes: u64) -> Result<Self, Failure> {
        let before = site_in(out)?;
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        if name.is_empty() {
            return Err(Failure::BadInput(format!(
                "{} has no name of its own; name the folder of the site with -o",
                out.in_line()
            )));
        }
        let draft = out.with_file_name(format!(".{name}.part"));
        let lock = claim(&draft, "publish")?;
        Ok(Self {
            out: out.to_owned(),
            draft,
            _lock: lock,
            before,
            sums: Sums::new(),
            bytes: 0,
            most_megabytes,
        })
    }

    /// Bytes that were written.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a file, without the secrets that this process knows.
    ///
    /// # Errors
    /// It cannot be written, or the site becomes too large.
    pub fn write(&mut self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let file = self.draft.join(path);
        let failed = |error: io::Error| cannot("write", &file, &error);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let bytes = secrets::without_in_bytes(bytes);
        let mut made = File::create_new(&file).map_err(failed)?;
        made.write_all(&bytes).map_err(failed)?;
        let digest = in_digits(&Sha256::digest(&bytes));
        self.count(path, digest, bytes.len() as u64)
    }

    /// The same, packed under the path with `.gz`. The same bytes are packed the same.
    ///
    /// # Errors
    /// As there.
    pub fn write_packed(&mut self, path: &str, bytes: &[u8]) -> Result<(), Failure> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        let packed = packed
            .write_all(&secrets::without_in_bytes(bytes))
            .and_then(|()| packed.finish());
        let path = format!("{path}.gz");
        let packed = packed.map_err(|error| cannot("write", &self.draft.join(&path), &error))?;
        self.write(&path, &packed)
    }

    /// A file that is written little by little, and counted with [`Self::take_in`].
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin_packed(&self, path: &str) -> Result<GzEncoder<File>, Failure> {
        let file = self.draft.join(path);
        let failed = |error: io::Error| cannot("write", &file, &error);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let made = File::create_new(&file).map_err(failed)?;
        Ok(GzEncoder::new(made, Compression::best()))
    }

    /// Counts such a file once it is whole.
    ///
    /// # Errors
    /// It cannot be read, or the site becomes too large.
    pub fn take_in(&mut self, path: &str) -> Result<(), Failure> {
        let file = self.draft.join(path);
        let found = digest_of(&file).and_then(|digest| Ok((digest, file.metadata()?.len())));
        let (digest, bytes) = found.map_err(|error| cannot("read", &file, &error))?;
        self.count(path, digest, bytes)
    }

    fn count(&mut self, path: &str, digest: String, bytes: u64) -> Result<(), Failure> {
        self.sums.insert(path.to_owned(), digest);
        self.bytes += bytes;
        if self.bytes > self.most_megabytes.saturating_mul(MEGABYTE) {
            let most = self.most_megabytes;
            return Err(Failure::BadInput(format!(
                "the site would be larger than {most} MB; publish fewer runs, leave something out with \
                 --without, or allow more with --most"
            )));
        }
        Ok(())
    }

    /// Puts the site in its place; how many files it has.
    ///
    /// # Errors
    /// A file of somebody else is in the way, or it cannot be written.
    pub fn finish(mut self) -> Result<usize, Failure> {
        let sums = std::mem::take(&mut self.sums);
        let written = as_text(&sums);
        let path = self.draft.join(SUMS);
        fs::write(&path, written).map_err(|error| cannot("write", &path, &error))?;
        for path in sums.keys().filter(|path| !self.before.contains_key(*path)) {
            let place = self.out.join(path);
            if place.symlink_metadata().is_ok() {
                return Err(Failure::BadInput(format!(
                    "{} is no file of the site that lies there, and nothing is overwritten; move it away \
                     or name another folder with -o",
                    place.in_line()
                )));
            }
        }
        let draft_lock = self.draft.join(LOCK);
        fs::remove_file(&draft_lock).map_err(|error| cannot("write", &draft_lock, &error))?;
        if self.before.is_empty() {
            // An empty folder may be there.
            let _ = fs::remove_dir(&self.out);
            fs::rename(&self.draft, &self.out)
                .map_err(|error| cannot("write", &self.out, &error))?;
            return Ok(sums.len());
        }
        // The list of digests comes last: a site that is half replaced is seen to be changed.
        for path in sums.keys().map(String::as_str).chain([SUMS]) {
            let place = self.out.join(path);
            let moved = match place.parent() {
                Some(folder) => fs::create_dir_all(folder),
                None => Ok(()),
            };
            let moved = moved.and_then(|()| fs::rename(self.draft.join(path), &place));
            moved.map_err(|error| cannot("write", &place, &error))?;
        }
        for path in self.before.keys().filter(|path| !sums.contains_key(*path)) {
            let place = self.out.join(path);
            fs::remove_file(&place).map_err(|error| cannot("remove", &place, &error))?;
            remove_empty_folders(&self.out, &place);
        }
        Ok(sums.len())
    }
}

impl Drop for SiteFolder {
    fn drop(&mut self) {
        // A site that is whole was moved, and nothing of it is there any more.
        let _ = fs::remove_dir_all(&self.draft);
    }
}

/// The files of the site that lies in a folder, if it is as this program left it; none where nothing lies
/// there.
fn site_in(out: &Path) -> Result<Sums, Failure> {
    let mut entries = match fs::read_dir(out) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sums::new()),
        Err(error) => return Err(cannot("read", out, &error)),
    };
    if entries.next().is_none() {
        return Ok(Sums::new());
    }
    let others = || {
        Failure::BadInput(format!(
            "{} holds files that are of no published site, and nothing is overwritten; name a folder \
             that does not exist yet with -o",
            out.in_line()
        ))
    };
    let text = read_whole(&out.join(SUMS), MOST_BESIDE_BYTES).map_err(|_| others())?;
    let sums = String::from_utf8(text).ok().and_then(|text| sums_in(&text));
    let sums = sums
        .filter(|sums| sums.contains_key(ABOUT))
        .ok_or_else(others)?;
    for (path, digest) in &sums {
        let place = out.join(path);
        let is_whole =
            is_inside(out, &place) && digest_of(&place).is_ok_and(|found| found == *digest);
        if !is_whole {
            return Err(Failure::BadInput(format!(
                "{} is not as it was published, and nothing that others changed is overwritten; name \
                 another folder with -o",
                place.in_line()
            )));
        }
    }
    Ok(sums)
}

/// Whether a file is one, in a folder and behind no link.
fn is_inside(folder: &Path, file: &Path) -> bool {
    let is_file = file.symlink_metadata().is_ok_and(|found| found.is_file());
    let real = folder
        .canonicalize()
        .and_then(|folder| Ok((folder, file.canonicalize()?)));
    let relative = file.strip_prefix(folder);
    is_file && real.is_ok_and(|(folder, file)| relative.is_ok_and(|path| folder.join(path) == file))
}

/// Lines of a digest, two blanks and a path; `None` of anything else.
fn sums_in(text: &str) -> Option<Sums> {
    let read = |line: &str| {
        let (digest, path) = line.split_once("  ")?;
        let mut parts = Path::new(path).components();
        let is_below = parts.all(|part| matches!(part, Component::Normal(_)));
        (is_below && !path.is_empty()).then(|| (path.to_owned(), digest.to_owned()))
    };
    text.lines().map(read).collect()
}

fn as_text(sums: &Sums) -> String {
    let lines = sums.iter();
    lines
        .map(|(path, digest)| format!("{digest}  {path}\n"))
        .collect()
}

fn digest_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(in_digits(&digest.finalize())),
            read => digest.update(&buffer[..read]),
        }
    }
}

/// A digest as other programs print it.
pub(crate) fn in_digits(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the folders that a file was the last one in.
fn remove_empty_folders(root: &Path, file: &Path) {
    let above = file.ancestors().skip(1);
    for folder in above.take_while(|folder| *folder != root && folder.starts_with(root)) {
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
