/**
 * Imports a module on demand. If it cannot be loaded, throws an error with the code `load_failed`, which has its own
 * message for users.
 */
export async function importLate<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw Object.assign(new Error('A part of the page did not load.', { cause }), { code: 'load_failed' });
  }
}
