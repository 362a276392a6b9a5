import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from '../../service/bin/bundle.mjs';

process.setSourceMapsEnabled(true);
await import(pathToFileURL(join(await bundle(), 'simulators.js')).href);
