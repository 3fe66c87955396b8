export * from './finding.ts';
export {
  repositoryNames,
  verifyRepository,
  type VerifyParts,
  type VerifyProgress,
} from './verify-repository.ts';
