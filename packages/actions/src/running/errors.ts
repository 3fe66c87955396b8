/** A hook that cannot be made from its properties: the event fails before any hook runs. */
export class ConstructionError extends Error {
  override readonly name = 'ConstructionError';
}

/** A hook that ran and says no. */
export class HookFailure extends Error {
  override readonly name = 'HookFailure';
}
