import { bundle } from './bundle.mjs';

await bundle();
