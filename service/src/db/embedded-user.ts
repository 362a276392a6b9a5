import { readFile, stat } from 'node:fs/promises';

/** Whom the server runs as when this process is root: PostgreSQL refuses to run as root. */
export interface ServerUser {
  uid: number;
  gid: number;
}

const candidates = ['causeway', 'postgres', '_postgres', 'nobody'];

/** Undefined when this process is not root: the server then runs as the same user. */
export async function chooseServerUser(clusterDir: string): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  // A cluster made by an ordinary user stays that user's: the next start without root must still work.
  const owner = await stat(clusterDir).catch(() => undefined);
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };

  const users = parsePasswd(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  for (const name of candidates) {
    const user = users.get(name);
    if (user && user.uid !== 0) return user;
  }
  throw new Error(
    `PostgreSQL does not run as root, and none of the users ${candidates.join(', ')} exists here. ` +
      'Start as an ordinary user, or set DATABASE_URL to a PostgreSQL of yours.',
  );
}

export function parsePasswd(text: string): Map<string, ServerUser> {
  const users = new Map<string, ServerUser>();
  for (const line of text.split('\n')) {
    const [name, , uid, gid] = line.split(':');
    if (!name || name.startsWith('#') || !/^-?\d+$/.test(uid ?? '') || !/^-?\d+$/.test(gid ?? '')) continue;
    users.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return users;
}
