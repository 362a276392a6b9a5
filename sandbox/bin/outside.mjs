#!/usr/bin/env node
// Node 22.18 and newer strip types themselves; older ones need the tsx loader.
if (!process.features.typescript) (await import('tsx/esm/api')).register();
await import('../src/outside.ts');
