import { tempDir } from '@svc/testing';
import { multipartSuite } from './multipart-suite.ts';

multipartSuite('local', () =>
  Promise.resolve({ type: 'local', path: tempDir('svc-multipart'), sync: false }),
);
multipartSuite('mem', () => Promise.resolve({ type: 'mem' }));
