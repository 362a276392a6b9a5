import { findChromium } from './chromium.ts';

/** Installs a browser before the tests, where time limits do not apply. Without one, the tests that need it fail. */
export function setup(): void {
  try {
    findChromium();
  } catch (error) {
    console.warn(String(error));
  }
}
