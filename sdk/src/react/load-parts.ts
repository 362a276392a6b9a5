import { importLate } from './import-late.ts';

/** Loads the parts that are not in the first load. */
export const loadParts = () => importLate(() => import('./late-parts.ts'));
