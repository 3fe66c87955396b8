import { tempDir } from '@svc/testing';
import { describeKvStore } from '@svc/kv/suite';
import { openLocalStore } from './local.ts';

const path = tempDir('svc.kv');
describeKvStore('local', () => openLocalStore({ path, syncWrites: true }));
