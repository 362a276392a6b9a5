/** Calls a callback of the host. An error in it is logged, so that it never fails what it reports, such as a purchase. */
export function notify<Value>(callback: ((value: Value) => unknown) | undefined, value: Value): void {
  new Promise((resolve) => resolve(callback?.(value))).catch(console.error);
}
