// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {ECDSA} from "solady/utils/ECDSA.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {Guarded} from "../Guarded.sol";
import {Token} from "../tokens/Token.sol";
import {IVenueManager, Quote} from "./IVenueManager.sol";
import {VenueConverter} from "./VenueConverter.sol";
import {VenueHours} from "./VenueHours.sol";
import {VenueLimiter} from "./VenueLimiter.sol";
import {VenueOracle} from "./VenueOracle.sol";
import {VenueRegistry} from "./VenueRegistry.sol";

/// @notice See `IVenueManager`.
/// @dev A stand-in for chains that the venue does not support. Checks run in the same order as in the venue's deployed
/// managers, so that a call with several faults reports the same error.
contract VenueManager is IVenueManager, Ownable, EIP712, Guarded {
    using SafeTransferLib for address;

    struct Satellites {
        address usdon;
        address converter;
        address oracle;
        address registry;
        address issuanceHours;
        address limiter;
    }

    /// @notice `role` was granted to `account` if `held` is true, and revoked otherwise.
    event RoleSet(bytes32 indexed role, address indexed account, bool held);

    uint8 private constant BUY = 0;
    uint8 private constant SELL = 1;

    bytes32 public constant ATTESTATION_SIGNER_ROLE = keccak256("ATTESTATION_SIGNER_ROLE");
    bytes32 public constant QUOTE_TYPEHASH = keccak256(
        "Quote(uint256 chainId,uint256 attestationId,bytes32 userId,address asset,uint256 price,uint256 quantity,uint256 expiration,uint8 side,bytes32 additionalData)"
    );
    /// @notice The token id under which this market's users are registered.
    address public constant gmIdentifier = address(uint160(uint256(keccak256("global_markets"))));

    address public immutable usdon;
    address public immutable sanityCheckOracle;
    address public immutable ondoIDRegistry;
    VenueHours public immutable issuanceHours;
    VenueLimiter public immutable rateLimiter;
    address public usdonManager;

    uint256 public minimumDepositUSD = 0.98e18;
    uint256 public minimumRedemptionUSD = 0.98e18;
    uint256 public executionId;
    bool public globalMintingPaused;
    bool public globalRedeemingPaused;

    mapping(bytes32 role => mapping(address account => bool)) public hasRole;
    mapping(uint256 attestationId => bool) public executedAttestationIds;
    mapping(address asset => bool) public gmTokenAccepted;
    mapping(address asset => bool) public gmTokenMintingPaused;
    mapping(address asset => bool) public gmTokenRedemptionsPaused;

    constructor(address owner, Satellites memory satellites) {
        _initializeOwner(owner);
        usdon = satellites.usdon;
        usdonManager = satellites.converter;
        sanityCheckOracle = satellites.oracle;
        ondoIDRegistry = satellites.registry;
        issuanceHours = VenueHours(satellites.issuanceHours);
        rateLimiter = VenueLimiter(satellites.limiter);
    }

    function mintWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address depositToken,
        uint256 depositTokenAmount
    ) external nonReentrant returns (uint256 minted) {
        if (globalMintingPaused) revert GlobalMintsPaused();
        if (gmTokenMintingPaused[quote.asset]) revert GMTokenMintsPaused();
        if (depositToken == address(0)) revert TokenAddressCantBeZero();
        if (quote.side != BUY) revert InvalidQuoteSide();
        _checkQuote(quote, signature);
        uint256 cost = _value(quote);
        if (cost < minimumDepositUSD) revert DepositAmountTooSmall();
        rateLimiter.spend(quote.asset, BUY, quote.userId, cost);

        _execute(quote);
        _collect(depositToken, depositTokenAmount, cost);
        Token(quote.asset).mint(msg.sender, quote.quantity);
        return quote.quantity;
    }

    function redeemWithAttestation(
        Quote calldata quote,
        bytes calldata signature,
        address receiveToken,
        uint256 minimumReceiveAmount
    ) external nonReentrant returns (uint256 value) {
        if (globalRedeemingPaused) revert GlobalRedemptionsPaused();
        if (gmTokenRedemptionsPaused[quote.asset]) revert GMTokenRedemptionsPaused();
        if (receiveToken == address(0)) revert TokenAddressCantBeZero();
        if (quote.side != SELL) revert InvalidQuoteSide();
        _checkQuote(quote, signature);
        value = _value(quote);
        if (value < minimumRedemptionUSD) revert RedemptionAmountTooSmall();
        rateLimiter.spend(quote.asset, SELL, quote.userId, value);

        _execute(quote);
        quote.asset.safeTransferFrom(msg.sender, address(this), quote.quantity);
        Token(quote.asset).burn(quote.quantity);
        _pay(receiveToken, value, minimumReceiveAmount);
    }

    function setRole(bytes32 role, address account, bool held) external onlyOwner {
        hasRole[role][account] = held;
        emit RoleSet(role, account, held);
    }

    function setAccepted(address asset, bool accepted) external onlyOwner {
        gmTokenAccepted[asset] = accepted;
    }

    function setGlobalPause(bool minting, bool redeeming) external onlyOwner {
        globalMintingPaused = minting;
        globalRedeemingPaused = redeeming;
    }

    function setTokenPause(address asset, bool minting, bool redeeming) external onlyOwner {
        gmTokenMintingPaused[asset] = minting;
        gmTokenRedemptionsPaused[asset] = redeeming;
    }

    function setMinimums(uint256 deposit, uint256 redemption) external onlyOwner {
        minimumDepositUSD = deposit;
        minimumRedemptionUSD = redemption;
    }

    /// @notice Changes the converter. Without a converter, only the venue's own dollar is accepted.
    function setConverter(address converter) external onlyOwner {
        usdonManager = converter;
    }

    function getDomainSeparator() external view returns (bytes32) {
        return _domainSeparator();
    }

    /// @notice Returns the digest that the venue signs.
    function hashQuote(Quote calldata quote) public view returns (bytes32) {
        // The struct has no dynamic member, so its ABI encoding equals its EIP-712 encoding.
        return _hashTypedData(keccak256(abi.encode(QUOTE_TYPEHASH, quote)));
    }

    function _checkQuote(Quote calldata quote, bytes calldata signature) private view {
        bytes32 registered = VenueRegistry(ondoIDRegistry).getRegisteredID(gmIdentifier, msg.sender);
        if (registered == 0) revert UserNotRegistered();
        if (executedAttestationIds[quote.attestationId]) revert AttestationAlreadyExecuted();
        if (block.timestamp > quote.expiration) revert AttestationExpired();
        if (registered != quote.userId) revert UserIdMismatch(registered, quote.userId);
        issuanceHours.check();
        VenueOracle(sanityCheckOracle).check(quote.asset, quote.price);
        if (!gmTokenAccepted[quote.asset]) revert GMTokenNotRegistered();
        if (quote.chainId != block.chainid) revert InvalidChainId();
        if (!_isAttested(quote, signature)) revert InvalidAttestationSigner();
    }

    function _isAttested(Quote calldata quote, bytes calldata signature) private view returns (bool) {
        address signer = ECDSA.tryRecoverCalldata(hashQuote(quote), signature);
        return signer != address(0) && hasRole[ATTESTATION_SIGNER_ROLE][signer];
    }

    function _value(Quote calldata quote) private pure returns (uint256) {
        return FixedPointMathLib.fullMulDiv(quote.quantity, quote.price, 1e18);
    }

    function _execute(Quote calldata quote) private {
        executedAttestationIds[quote.attestationId] = true;
        emit TradeExecuted(
            ++executionId,
            quote.attestationId,
            quote.chainId,
            quote.userId,
            quote.side,
            quote.asset,
            quote.price,
            quote.quantity,
            quote.expiration,
            quote.additionalData
        );
    }

    function _collect(address depositToken, uint256 amount, uint256 cost) private {
        if (depositToken == usdon) {
            usdon.safeTransferFrom(msg.sender, address(this), cost);
        } else {
            address converter = _converter();
            depositToken.safeTransferFrom(msg.sender, address(this), amount);
            depositToken.safeApproveWithRetry(converter, amount);
            uint256 dollars = VenueConverter(converter).toDollar(depositToken, amount, cost);
            if (dollars > cost) usdon.safeTransfer(msg.sender, dollars - cost);
        }
        Token(usdon).burn(cost);
    }

    function _pay(address receiveToken, uint256 value, uint256 minimum) private {
        if (receiveToken == usdon) {
            Token(usdon).mint(msg.sender, value);
        } else {
            address converter = _converter();
            Token(usdon).mint(address(this), value);
            usdon.safeApproveWithRetry(converter, value);
            VenueConverter(converter).fromDollar(receiveToken, value, minimum, msg.sender);
        }
    }

    function _converter() private view returns (address converter) {
        converter = usdonManager;
        if (converter == address(0)) revert USDonManagerNotEnabled();
    }

    function _domainNameAndVersion() internal pure override returns (string memory, string memory) {
        return ("OndoGMTokenManager", "1");
    }
}
