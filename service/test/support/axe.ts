import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { installPackages } from './packages.ts';

/** Returns the source of the accessibility checker. */
export async function loadAxe(): Promise<string> {
  const folder = await installPackages('axe');
  return readFile(join(folder, 'node_modules/axe-core/axe.min.js'), 'utf8');
}

/** Returns the names of the rules that the page breaks, with an example of each. */
export async function findViolations(page: Page, axe: string): Promise<string[]> {
  // Unlike a script tag, `evaluate` is not subject to the page's CSP.
  await page.evaluate(axe);
  return page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes[0].html.slice(0, 200)))`);
}
