//! The memory of the allocator while records are read.

/// Size of the block whose release makes the allocator keep freed memory, in bytes.
const BLOCK_SIZE: usize = 16 << 20;

/// Makes the allocator keep the memory of a histogram for the next one. If more than a certain
/// amount of memory is free, the C library returns it to the system. The release of a mapped block
/// raises this limit to at least twice the size of the block (mallopt(3), `M_MMAP_THRESHOLD`). At
/// the initial limit, reading the histograms of a thousand seconds or records would spend half of
/// the time in page faults.
pub(crate) fn retain_freed_memory() {
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_SIZE)));
}
