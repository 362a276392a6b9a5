-- The last participation that the background comparison of a Solana cluster has looked back at; see reconcile-solana.ts.
alter table reconcile_passes add column cursor uuid;
