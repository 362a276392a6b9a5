/**
 * Imports a module on demand. If it cannot be loaded, throws an error with the code `load_failed`. `error-messages.ts`
 * has the text that users see for this code.
 */
export async function importLate<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw Object.assign(new Error('A part of the page did not load.', { cause }), { code: 'load_failed' });
  }
}
