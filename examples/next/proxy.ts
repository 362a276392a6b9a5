/** Renews sessions before pages render. Only `cookieSessions` needs it; it is here to show how. */
export { proxy } from './causeway';
