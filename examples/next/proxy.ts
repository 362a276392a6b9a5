/** Renews sessions before pages render. Only apps with `cookieSessions` need this file. It is here as an example. */
export { proxy } from './causeway';
