import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// Adds the address of every package to the lock files after `npm install`. npm leaves the addresses out (see
// `.npmrc`), because they would name the registry of the person who ran it. Without addresses, `npm ci` first downloads
// the list of all versions of every package. npm replaces the host of these addresses with the configured registry.
for (const file of ['package-lock.json', 'service/test/tools/package-lock.json']) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const before = readFileSync(path, 'utf8');
  const lock = JSON.parse(before);
  for (const [folder, entry] of Object.entries(lock.packages)) {
    if (entry.integrity === undefined) continue; // a folder of this repository
    const name = entry.name ?? folder.split('node_modules/').at(-1);
    entry.resolved = `https://registry.invalid/${name}/-/${name.split('/').at(-1)}-${entry.version}.tgz`;
  }
  const after = `${JSON.stringify(lock, null, 2)}\n`;
  if (after !== before) writeFileSync(path, after);
}
