/**
 * Calls one of the host app's callbacks. An error in the callback does not stop the purchase or request that the
 * callback reports on. In a page, the error is reported as uncaught, so that the app's error monitoring sees it.
 * Elsewhere, it is logged.
 */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(
    // On a server, the error is only logged, because some runtimes exit after an uncaught error.
    typeof document === 'undefined' || typeof reportError === 'undefined' ? console.error : reportError,
  );
}
