/**
 * Calls a callback of the host. In a page, an error in it is reported like an uncaught one, so that the app's error monitoring sees
 * it; elsewhere, it is logged. It never fails the purchase or the request that the callback is about.
 */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(
    // Not on a server: there, some runtimes exit after an uncaught error.
    typeof document === 'undefined' || typeof reportError === 'undefined' ? console.error : reportError,
  );
}
