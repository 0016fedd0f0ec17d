//! Writers of fields, the counterparts of `FieldReader`.

/// Appends a length-encoded integer.
#[inline]
pub(crate) fn length(out: &mut Vec<u8>, number: u64) {
    let [a, b, c, ..] = number.to_le_bytes();
    match number {
        0..=0xFA => out.push(a),
        0xFB..=0xFFFF => out.extend_from_slice(&[0xFC, a, b]),
        0x1_0000..=0xFF_FFFF => out.extend_from_slice(&[0xFD, a, b, c]),
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub(crate) fn text(out: &mut Vec<u8>, text: &[u8]) {
    length(out, text.len() as u64);
    out.extend_from_slice(text);
}

/// Appends a string and a zero byte. If the string contains a zero byte, it is cut there, because
/// the reader would take the rest for the next field.
pub(crate) fn until_nul(out: &mut Vec<u8>, text: &[u8]) {
    out.extend(text.iter().take_while(|byte| **byte != 0));
    out.push(0);
}
