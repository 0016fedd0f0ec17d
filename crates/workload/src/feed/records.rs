//! Records in memory: all fields in one text.

use base::Nanos;

/// Some records of a file. Reuse after [`reset`](Records::reset) allocates nothing once the buffers
/// have grown.
#[derive(Clone, Debug, Default)]
pub struct Records {
    text: String,
    /// End of each field in the text, in bytes.
    ends: Vec<u32>,
    /// Number of fields up to the end of each record.
    fields: Vec<u32>,
    /// Number of each group in the file, from 0, and the time at which the group is due.
    groups: Vec<(u64, Nanos)>,
    /// Number of records in a group.
    per_group: usize,
}

/// The records of one request.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    records: Option<&'a Records>,
    first: usize,
    count: usize,
}

/// A record: fields in order.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    records: &'a Records,
    index: usize,
}

impl Records {
    /// Removes all records and sets the number of records in a group.
    pub fn reset(&mut self, per_group: usize) {
        self.text.clear();
        self.ends.clear();
        self.fields.clear();
        self.groups.clear();
        self.per_group = per_group.max(1);
    }

    /// Returns the number of complete groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Returns true if there is no complete group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Returns the size of the fields' text, in bytes.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Returns the number of a group in its file, from 0.
    pub fn number(&self, group: usize) -> u64 {
        self.groups[group].0
    }

    /// Returns the time from the first line of a log until a group is due.
    pub fn at(&self, group: usize) -> Nanos {
        self.groups[group].1
    }

    /// Returns a group by its index.
    pub fn group(&self, place: usize) -> Group<'_> {
        let first = place * self.per_group;
        Group { records: Some(self), first, count: self.per_group }
    }

    /// Appends text to the current field.
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends a field.
    pub(super) fn end_field(&mut self) {
        self.ends.push(self.text.len() as u32);
    }

    /// Ends a record. Returns the number of its fields.
    pub(super) fn end_record(&mut self) -> usize {
        let before = self.fields.last().copied().unwrap_or(0);
        self.fields.push(self.ends.len() as u32);
        self.ends.len() - before as usize
    }

    /// Returns the number of records.
    pub(super) fn records(&self) -> usize {
        self.fields.len()
    }

    /// Appends records as one group.
    pub(super) fn push_group(&mut self, records: &Records, number: u64, at: Nanos) {
        let (text, ends) = (self.text.len() as u32, self.ends.len() as u32);
        self.text.push_str(&records.text);
        self.ends.extend(records.ends.iter().map(|end| text + end));
        self.fields.extend(records.fields.iter().map(|fields| ends + fields));
        self.groups.push((number, at));
    }
}

impl<'a> Group<'a> {
    /// The group of a request that takes no records.
    pub const NONE: Group<'static> = Group { records: None, first: 0, count: 0 };

    /// Returns the record for a statement of the request; a single record is shared by all
    /// statements. `None` if the request takes no records.
    pub fn record(self, statement: usize) -> Option<Record<'a>> {
        let records = self.records?;
        let index = self.first + statement.min(self.count - 1);
        Some(Record { records, index })
    }
}

impl<'a> Record<'a> {
    /// Returns the number of fields.
    pub fn len(self) -> usize {
        self.fields().len()
    }

    /// Returns true if the record has no fields, which never holds for records of a reader.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns a field by its index, from 0; `None` if the record has fewer fields.
    pub fn field(self, place: usize) -> Option<&'a str> {
        let fields = self.fields();
        let index = fields.start + place;
        if index >= fields.end {
            return None;
        }
        let start = index.checked_sub(1).map_or(0, |before| self.records.ends[before]);
        Some(&self.records.text[start as usize..self.records.ends[index] as usize])
    }

    fn fields(self) -> std::ops::Range<usize> {
        let end_of = |index: usize| self.records.fields[index] as usize;
        let start = self.index.checked_sub(1).map_or(0, end_of);
        start..end_of(self.index)
    }
}
