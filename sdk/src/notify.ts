/**
 * Calls a callback of the host app. An error in the callback does not affect the purchase or request that the callback
 * reports on. In a page, the error is reported as uncaught, so that the app's error monitoring sees it. Elsewhere, the
 * error is logged.
 */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(
    // On a server, the error is only logged, because some runtimes exit after an uncaught error.
    typeof document === 'undefined' || typeof reportError === 'undefined' ? console.error : reportError,
  );
}
