#!/usr/bin/env node
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.mjs';

process.setSourceMapsEnabled(true);
await import(pathToFileURL(join(await bundle(), 'main.js')).href);
