export { allButLinkLocal, networkProblem, only, publicAnd, type AddressRule } from './address-rule.ts';
export { OutgoingError, type OutgoingErrorKind } from './errors.ts';
export {
  Outgoing,
  type OutgoingAnswer,
  type OutgoingOptions,
  type OutgoingRequest,
  type ResolvedAddress,
} from './outgoing.ts';
export type { ProxyVariables } from './proxy.ts';
