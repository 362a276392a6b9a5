import { createHash } from 'node:crypto';

/** What everything sealed depends on in tests. */
export const TEST_SECRET = createHash('sha256').update('test').digest();
