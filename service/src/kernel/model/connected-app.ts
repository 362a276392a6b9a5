/** An app that a user has connected. */
export type ConnectedApp = {
  client_id: string;
  name: string;
  logo_url: string | null;
  scopes: string[];
  /** When the user first allowed the app. */
  connected_at: string;
};
