//! Inversion of small symmetric matrices, for least squares.

/// Inverts the part of a symmetric matrix that consists of the `used` rows and columns, by
/// Gauss-Jordan elimination with pivoting; the rest of the result is zero. Returns `None` if that
/// part is singular: a pivot is at most `singular` times the largest element of the diagonal.
pub(crate) fn invert<const K: usize>(
    matrix: [[f64; K]; K],
    used: [bool; K],
    singular: f64,
) -> Option<[[f64; K]; K]> {
    let used: Vec<usize> = (0..K).filter(|row| used[*row]).collect();
    let (mut left, mut right) = (matrix, [[0.0; K]; K]);
    used.iter().for_each(|row| right[*row][*row] = 1.0);
    let scale = used.iter().map(|row| matrix[*row][*row].abs()).fold(0.0, f64::max);
    for (done, column) in used.iter().copied().enumerate() {
        let by_size =
            |a: &usize, b: &usize| left[*a][column].abs().total_cmp(&left[*b][column].abs());
        let pivot = used[done..].iter().copied().max_by(by_size)?;
        left.swap(column, pivot);
        right.swap(column, pivot);
        let head = left[column][column];
        if head.abs() <= scale * singular {
            return None;
        }
        for k in used.iter().copied() {
            left[column][k] /= head;
            right[column][k] /= head;
        }
        for row in used.iter().copied().filter(|row| *row != column) {
            let factor = left[row][column];
            for k in used.iter().copied() {
                left[row][k] -= factor * left[column][k];
                right[row][k] -= factor * right[column][k];
            }
        }
    }
    right.iter().flatten().all(|value| value.is_finite()).then_some(right)
}

/// Returns the product of a matrix and a vector.
pub(crate) fn multiply<const K: usize>(matrix: &[[f64; K]; K], vector: &[f64; K]) -> [f64; K] {
    matrix.map(|row| row.iter().zip(vector).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_part_is_inverted_and_the_rest_is_zero() {
        let matrix = [[0.0, 9.0, 2.0], [9.0, 9.0, 9.0], [2.0, 9.0, 3.0]];
        let inverse = invert(matrix, [true, false, true], 1e-13).unwrap();
        assert_eq!(inverse, [[-0.75, 0.0, 0.5], [0.0; 3], [0.5, 0.0, 0.0]]);
        assert_eq!(multiply(&inverse, &[2.0, 7.0, 3.0]), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn singular_matrix_has_no_inverse() {
        let matrix = [[1.0, 2.0], [2.0, 4.0]];
        assert_eq!(invert(matrix, [true; 2], 1e-13), None);
        assert!(invert(matrix, [true, false], 1e-13).is_some());
    }
}
