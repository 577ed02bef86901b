//! Tables as Parquet: typed columns that may be null, in row groups of some megabytes. Uses the
//! low-level column writer of the crate `parquet`, which needs no Arrow.

use std::io;
use std::sync::Arc;

use agon_report::export::{Cell, Table, Type};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type as Schema, TypePtr};

use super::{Sink, TableFile};

/// Rows after which a row group is written.
const MOST_ROWS: usize = 65_536;

/// Bytes of text after which it is written, too: replies of models are long.
const MOST_TEXT: usize = 4 * 1024 * 1024;

/// See the module.
pub(super) struct ParquetFile {
    writer: SerializedFileWriter<Sink>,
    columns: Vec<Gathered>,
    rows: usize,
    text: usize,
}

/// The cells of a column that are not written yet: what is there, and of each row whether it is.
struct Gathered {
    present: Vec<i16>,
    values: Values,
}

enum Values {
    /// Cells that repeat the one before share its bytes.
    Text(Vec<ByteArray>),
    Integer(Vec<i64>),
    Number(Vec<f64>),
    Flag(Vec<bool>),
}

impl ParquetFile {
    /// A file with the schema of a table.
    pub fn begin(file: Sink, table: &'static Table) -> io::Result<Self> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("agon ", env!("CARGO_PKG_VERSION")).to_owned())
            .build();
        let schema = schema(table).map_err(io::Error::other)?;
        let writer = SerializedFileWriter::new(file, schema, Arc::new(properties));
        Ok(Self {
            writer: writer.map_err(io::Error::other)?,
            columns: table
                .columns
                .iter()
                .map(|column| Gathered::new(column.kind))
                .collect(),
            rows: 0,
            text: 0,
        })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let mut group = self.writer.next_row_group()?;
        for gathered in &mut self.columns {
            let Some(mut column) = group.next_column()? else {
                break;
            };
            gathered.write(column.untyped())?;
            column.close()?;
            gathered.clear();
        }
        group.close()?;
        (self.rows, self.text) = (0, 0);
        Ok(())
    }
}

impl TableFile for ParquetFile {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        for (gathered, cell) in self.columns.iter_mut().zip(cells) {
            if let Cell::Text(text) = cell {
                self.text += text.len();
            }
            gathered.add(cell);
        }
        self.rows += 1;
        if self.rows >= MOST_ROWS || self.text >= MOST_TEXT {
            self.write_group().map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Sink> {
        if self.rows > 0 {
            self.write_group().map_err(io::Error::other)?;
        }
        self.writer.into_inner().map_err(io::Error::other)
    }
}

impl Gathered {
    fn new(kind: Type) -> Self {
        Self {
            present: Vec::new(),
            values: match kind {
                Type::Text => Values::Text(Vec::new()),
                Type::Integer => Values::Integer(Vec::new()),
                Type::Number => Values::Number(Vec::new()),
                Type::Flag => Values::Flag(Vec::new()),
            },
        }
    }

    /// Takes a cell; one of another type than the column's counts as null.
    fn add(&mut self, cell: &Cell<'_>) {
        let is_there = match (&mut self.values, cell) {
            (Values::Text(all), Cell::Text(text)) => {
                let repeated = all.last().filter(|last| last.data() == text.as_bytes());
                let bytes = repeated.cloned();
                all.push(bytes.unwrap_or_else(|| text.as_bytes().to_vec().into()));
                true
            }
            (Values::Integer(all), Cell::Integer(number)) => {
                all.push(*number);
                true
            }
            (Values::Number(all), Cell::Number(number)) => {
                all.push(*number);
                true
            }
            (Values::Flag(all), Cell::Flag(flag)) => {
                all.push(*flag);
                true
            }
            _ => false,
        };
        self.present.push(i16::from(is_there));
    }

    fn write(&self, column: &mut ColumnWriter<'_>) -> Result<(), ParquetError> {
        let present = Some(self.present.as_slice());
        let written = match (&self.values, column) {
            (Values::Text(all), ColumnWriter::ByteArrayColumnWriter(column)) => {
                column.write_batch(all, present, None)
            }
            (Values::Integer(all), ColumnWriter::Int64ColumnWriter(column)) => {
                column.write_batch(all, present, None)
            }
            (Values::Number(all), ColumnWriter::DoubleColumnWriter(column)) => {
                column.write_batch(all, present, None)
            }
            (Values::Flag(all), ColumnWriter::BoolColumnWriter(column)) => {
                column.write_batch(all, present, None)
            }
            _ => Err(ParquetError::General("a column of another type".to_owned())),
        };
        written.map(|_| ())
    }

    fn clear(&mut self) {
        self.present.clear();
        match &mut self.values {
            Values::Text(all) => all.clear(),
            Values::Integer(all) => all.clear(),
            Values::Number(all) => all.clear(),
            Values::Flag(all) => all.clear(),
        }
    }
}

/// The schema of a table: every column may be null.
fn schema(table: &'static Table) -> Result<TypePtr, ParquetError> {
    let columns = table.columns.iter().map(|column| {
        let (physical, logical) = match column.kind {
            Type::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Type::Integer => (Physical::INT64, None),
            Type::Number => (Physical::DOUBLE, None),
            Type::Flag => (Physical::BOOLEAN, None),
        };
        let built = Schema::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(built))
    });
    let columns = columns.collect::<Result<Vec<_>, ParquetError>>()?;
    let built = Schema::group_type_builder(table.name)
        .with_fields(columns)
        .build()?;
    Ok(Arc::new(built))
}
