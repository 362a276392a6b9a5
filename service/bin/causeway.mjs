#!/usr/bin/env node
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

process.setSourceMapsEnabled(true);
const folder = await bundle().catch((error) => {
  console.error(`causeway: ${error.message}`);
  process.exit(2);
});
await import(pathToFileURL(join(folder, 'main.js')).href);
