export class SnappyError extends Error {
  override readonly name = 'SnappyError';
}
