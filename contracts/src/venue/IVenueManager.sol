// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// @notice A firm quote for one registered user, signed by the venue (EIP-712 `Quote`).
struct Quote {
    uint256 chainId;
    uint256 attestationId;
    bytes32 userId;
    address asset;
    /// Dollars per whole token, scaled by 1e18.
    uint256 price;
    /// The amount of the asset, in its smallest unit.
    uint256 quantity;
    /// Unix time in seconds. The quote is still valid during this second.
    uint256 expiration;
    /// 0 buys (mints), 1 sells (redeems).
    uint8 side;
    bytes32 additionalData;
}

/// @title Venue manager
/// @notice Mints and redeems the venue's assets at attested prices. Names and errors match the venue's deployed
/// managers, so that the same client works with them and with this contract.
interface IVenueManager {
    /// @notice An attestation was executed. No argument is indexed.
    event TradeExecuted(
        uint256 executionId,
        uint256 attestationId,
        uint256 chainId,
        bytes32 userId,
        uint8 side,
        address asset,
        uint256 price,
        uint256 quantity,
        uint256 expiration,
        bytes32 additionalData
    );

    error AttestationExpired();
    error AttestationAlreadyExecuted();
    error InvalidAttestationSigner();
    error InvalidChainId();
    error InvalidQuoteSide();
    error UserIdMismatch(bytes32 registered, bytes32 quoted);
    error UserNotRegistered();
    error GMTokenNotRegistered();
    error DepositAmountTooSmall();
    error RedemptionAmountTooSmall();
    error GlobalMintsPaused();
    error GlobalRedemptionsPaused();
    error GMTokenMintsPaused();
    error GMTokenRedemptionsPaused();
    error USDonManagerNotEnabled();
    error TokenAddressCantBeZero();

    /// @notice Mints `quote.quantity` to the caller. If the deposit is in the venue's own dollar, takes exactly the
    /// cost. Otherwise takes all of `depositTokenAmount`, converts it and returns the surplus in the venue's dollar.
    function mintWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address depositToken,
        uint256 depositTokenAmount
    ) external returns (uint256 minted);

    /// @notice Burns `quote.quantity` of the caller's tokens and pays the caller. `minimumReceiveAmount` applies only
    /// if the venue's dollar is converted. Returns the value in the venue's dollar, even if another token is paid out.
    function redeemWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address receiveToken,
        uint256 minimumReceiveAmount
    ) external returns (uint256 value);

    function getDomainSeparator() external view returns (bytes32);

    function hasRole(bytes32 role, address account) external view returns (bool);

    function executedAttestationIds(uint256 attestationId) external view returns (bool);

    function gmTokenAccepted(address asset) external view returns (bool);

    function minimumDepositUSD() external view returns (uint256);

    function minimumRedemptionUSD() external view returns (uint256);

    function globalMintingPaused() external view returns (bool);

    function globalRedeemingPaused() external view returns (bool);

    function gmTokenMintingPaused(address asset) external view returns (bool);

    function gmTokenRedemptionsPaused(address asset) external view returns (bool);

    function usdon() external view returns (address);

    function usdonManager() external view returns (address);

    function sanityCheckOracle() external view returns (address);

    function ondoIDRegistry() external view returns (address);
}
