import { findChromium } from './chromium.ts';

/**
 * Installs a browser before the tests start, because test timeouts do not apply yet. If that fails, the tests that need
 * a browser fail.
 */
export function setup(): void {
  try {
    findChromium();
  } catch (error) {
    console.warn(String(error));
  }
}
