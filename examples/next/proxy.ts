/**
 * Renews sessions before pages render. Only apps that use `cookieSessions` need this file. This app does not, and has
 * the file only as an example.
 */
export { proxy } from './causeway';
