import { tempDir } from '@svc/testing';
import { framingSuite } from './framing-suite.ts';

framingSuite('local', () => Promise.resolve({ type: 'local', path: tempDir('svc-framing'), sync: false }));
framingSuite('mem', () => Promise.resolve({ type: 'mem' }));
