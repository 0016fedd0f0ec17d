//! Records in memory: fields side by side in one text.

use base::Nanos;

/// Some records of a file. Cleared and filled again, it allocates nothing once it has grown.
#[derive(Clone, Debug, Default)]
pub struct Records {
    text: String,
    /// Where each field ends in the text.
    ends: Vec<u32>,
    /// How many fields there are up to the end of each record.
    fields: Vec<u32>,
    /// For each group: its number in the file, from 0, and when it is due.
    groups: Vec<(u64, Nanos)>,
    /// How many records make a group.
    per_group: usize,
}

/// The records of one request.
#[derive(Clone, Copy, Debug)]
pub struct Group<'a> {
    records: Option<&'a Records>,
    first: usize,
    count: usize,
}

/// A record: its fields in order.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    records: &'a Records,
    index: usize,
}

impl Records {
    /// Makes room for groups of this many records each.
    pub fn reset(&mut self, per_group: usize) {
        self.text.clear();
        self.ends.clear();
        self.fields.clear();
        self.groups.clear();
        self.per_group = per_group.max(1);
    }

    /// How many groups are complete.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is no complete group.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// How many bytes the fields take.
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The number of a group in its file, from 0.
    pub fn number(&self, group: usize) -> u64 {
        self.groups[group].0
    }

    /// When a group of a log is due, after the log's first line.
    pub fn at(&self, group: usize) -> Nanos {
        self.groups[group].1
    }

    /// A group by its place.
    pub fn group(&self, place: usize) -> Group<'_> {
        let first = place * self.per_group;
        Group { records: Some(self), first, count: self.per_group }
    }

    /// Begins a field, or goes on with it.
    pub(super) fn push_text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Ends a field.
    pub(super) fn end_field(&mut self) {
        self.ends.push(self.text.len() as u32);
    }

    /// Ends a record. Returns how many fields it has.
    pub(super) fn end_record(&mut self) -> usize {
        let before = self.fields.last().copied().unwrap_or(0);
        self.fields.push(self.ends.len() as u32);
        self.ends.len() - before as usize
    }

    /// How many records there are.
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
    /// What a request has that takes no records.
    pub const NONE: Group<'static> = Group { records: None, first: 0, count: 0 };

    /// The record for a statement of the request; all statements have the only one if there is but
    /// one. `None` where the request takes no records.
    pub fn record(self, statement: usize) -> Option<Record<'a>> {
        let records = self.records?;
        let index = self.first + statement.min(self.count - 1);
        Some(Record { records, index })
    }
}

impl<'a> Record<'a> {
    /// How many fields it has.
    pub fn len(self) -> usize {
        self.fields().len()
    }

    /// Whether it has no field: never, for what a reader made.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// A field by its place, from 0.
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
