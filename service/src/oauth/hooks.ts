/** What the hosted pages bring in. */
export type OAuthHooks = {
  /**
   * The user whom the pages hold for signed in, by the browser's cookies. When set, the library's own session
   * follows it: who signs out or changes the account there has done so here.
   */
  signedInUser: ((cookies: string | undefined) => Promise<string | null>) | null;
  /** The page for a sign-in that cannot be sent back to the partner. */
  errorPage(description: string): string;
};
