/**
 * Calls a callback of the host. An error in the callback never fails the purchase or the request that the callback is
 * about. In a page, the error is reported as uncaught, so that the app's error monitoring sees it. Elsewhere, it is
 * logged.
 */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(
    // On a server, the error is only logged, because some runtimes exit after an uncaught error.
    typeof document === 'undefined' || typeof reportError === 'undefined' ? console.error : reportError,
  );
}
