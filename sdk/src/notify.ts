/**
 * Calls one of the host app's callbacks. If the callback throws, the purchase or request that it reports on continues.
 * In a page, the error is reported as uncaught, so that the app's error monitoring sees it. Elsewhere, it is logged.
 */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(
    // On a server, the error is only logged, because some runtimes exit after an uncaught error.
    typeof document === 'undefined' || typeof reportError === 'undefined' ? console.error : reportError,
  );
}
