import { suiteTests } from './versitygw-suite.ts';

// All of them take minutes: the long run has them.
await suiteTests(4);
