import { createHash } from 'node:crypto';

/** The sealing secret of all tests. */
export const TEST_SECRET = createHash('sha256').update('test').digest();
