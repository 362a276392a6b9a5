import { importLate } from './import-late.ts';

/** Loads the parts that the first view does not need. */
export const loadParts = () => importLate(() => import('./late-parts.ts'));
