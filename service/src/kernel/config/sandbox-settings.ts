import { isLoopback } from '../loopback.ts';
import type { Source } from './read.ts';

/**
 * Returns whether other machines may reach the sandbox. Adds a problem for each setting that would expose the sandbox
 * to the internet or to real users, because the sandbox's credentials are public.
 */
export function readSandboxExposure({ read, problems, isProduction }: Source): boolean {
  const isPublic = read('CAUSEWAY_SANDBOX_PUBLIC') === 'yes';
  if (isProduction) {
    if (isPublic)
      problems.push('CAUSEWAY_SANDBOX_PUBLIC: must not be set in production; it applies only to the sandbox');
    return false;
  }
  const advice =
    'set CAUSEWAY_PROFILE=production, or set CAUSEWAY_SANDBOX_PUBLIC=yes if anyone who can reach the sandbox may use it';
  if (!isPublic && !isLoopback(read('HOST')))
    problems.push(`HOST: must be a loopback address in the sandbox; ${advice}`);
  if (!isPublic && read('PUBLIC_URL')?.startsWith('https:'))
    problems.push(`PUBLIC_URL: must not use https in the sandbox; ${advice}`);
  if (read('SUMSUB_APP_TOKEN')?.startsWith('prd:'))
    problems.push(
      'SUMSUB_APP_TOKEN: must not be a production token in the sandbox; set CAUSEWAY_PROFILE=production',
    );
  return isPublic;
}
