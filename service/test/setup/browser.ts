import { findChromium } from './chromium.ts';

/**
 * Installs a browser before the tests start, while no test timeout applies. If that fails, the tests that need a
 * browser fail.
 */
export function setup(): void {
  try {
    findChromium();
  } catch (error) {
    console.warn(String(error));
  }
}
