import { findChromium } from './chromium.ts';

/** Before the tests, where installing a browser may take its time. Without one, the tests that need it say so. */
export function setup(): void {
  try {
    findChromium();
  } catch (error) {
    console.warn(String(error));
  }
}
