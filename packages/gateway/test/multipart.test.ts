import { tempDir } from '@svc/testing';
import { multipartRaceSuite } from './multipart-race-suite.ts';
import { multipartSuite } from './multipart-suite.ts';

const local = () => Promise.resolve({ type: 'local', path: tempDir('svc-multipart'), sync: false } as const);
const mem = () => Promise.resolve({ type: 'mem' } as const);

multipartSuite('local', local);
multipartSuite('mem', mem);
multipartRaceSuite('local', local);
multipartRaceSuite('mem', mem);
