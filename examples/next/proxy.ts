/**
 * Renews sessions before pages render. Only apps that use `cookieSessions` need this file. This app does not use them,
 * and has the file as an example.
 */
export { proxy } from './causeway';
