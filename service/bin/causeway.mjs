#!/usr/bin/env node
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { bundle, release } from './bundle.mjs';

process.setSourceMapsEnabled(true);
const folder = await bundle().catch((error) => {
  console.error(`causeway: ${error.message}`);
  process.exit(2);
});
if (folder === release) {
  // The published package runs only in production, so `causeway` without a command means `causeway serve`.
  if (process.argv.length === 2) process.argv.push('serve');
  // Exits before anything can treat the configured database as the database of a sandbox.
  if (process.argv[2] === 'serve' && process.env.CAUSEWAY_PROFILE !== 'production') {
    console.error(
      'causeway: CAUSEWAY_PROFILE is not "production", and this package has no sandbox. Run "causeway init" to write the settings for production. For a sandbox, clone the repository and run "npm ci && npm start".',
    );
    process.exit(2);
  }
}
// Keeps V8's young generation small until `serve` is ready. Otherwise the young generation grows to 32 MB during
// startup, and an idle process keeps that memory.
if (process.argv[2] === 'serve') setFlagsFromString('--semi-space-growth-factor=1');
await import(pathToFileURL(join(folder, 'main.js')).href);
