/** Imports a module that loads later. If it cannot be loaded, throws an error whose code has a message for the user. */
export async function importLate<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw Object.assign(new Error('A part of the page did not load.', { cause }), { code: 'load_failed' });
  }
}
