-- The participations that share an allowance are found by their wallet (participations_wallet), on Solana too.
drop index participations_source;
