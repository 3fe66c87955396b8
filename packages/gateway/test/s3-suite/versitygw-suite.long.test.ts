import { suiteTests } from './versitygw-suite.ts';

await suiteTests(1);
