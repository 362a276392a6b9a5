// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {EIP712} from "solady/utils/EIP712.sol";
import {FixedPointMathLib} from "solady/utils/FixedPointMathLib.sol";
import {LibString} from "solady/utils/LibString.sol";
import {MetadataReaderLib} from "solady/utils/MetadataReaderLib.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {SignatureCheckerLib} from "solady/utils/SignatureCheckerLib.sol";
import {Guarded} from "../Guarded.sol";
import {IVenueManager, Quote} from "../venue/IVenueManager.sol";
import {Fee} from "./Fee.sol";
import {ITokenizedSwap} from "./ITokenizedSwap.sol";

/// @notice See `ITokenizedSwap`.
contract TokenizedSwap is ITokenizedSwap, Ownable, EIP712, Guarded {
    using SafeTransferLib for address;

    struct Totals {
        uint256 inputSum;
        uint256 feeSum;
        uint256 outputSum;
        uint256 count;
    }

    uint8 private constant BUY = 0;
    uint8 private constant SELL = 1;

    uint256 public constant SWAP_LEVEL = 2;
    uint32 public constant BUY_LEVEL = 4;
    uint32 public constant SELL_LEVEL = 8;

    /// @dev A buy may overpay, but by less than this amount, in dollars scaled by 1e18.
    uint256 private constant TOLERANCE = 1e16;

    bytes32 public constant VERIFY_REQUEST_TYPEHASH = keccak256(
        "VerifyRequest(uint8 side,address inputToken,address outputToken,address sender,uint256 nonce,uint256 expiry,uint256 amount)"
    );

    address public immutable manager;
    bytes32 private immutable _name;

    address public operator;
    address public feeRecipient;
    uint256 public feeBps;
    bool public stopped;
    uint32 public paused;
    mapping(address user => mapping(address input => mapping(address output => Totals))) public totals;

    constructor(Config memory config) {
        _name = LibString.packOne(config.name);
        if (config.manager == address(0) || _name == 0) revert InvalidAddress();
        _initializeOwner(config.owner);
        manager = config.manager;
        _setOperator(config.operator);
        _setFee(config.feeBps, config.feeRecipient);
    }

    function swap(
        Quote calldata quote,
        bytes calldata venueSignature,
        address token,
        uint256 amount,
        bytes calldata operatorSignature
    ) external nonReentrant returns (uint256 output) {
        _checkRunning(quote.side);
        _checkCanonical(abi.encodeCall(this.swap, (quote, venueSignature, token, amount, operatorSignature)));
        if (token == address(0) || quote.asset == address(0) || token == quote.asset) revert InvalidAddress();
        _checkRequest(quote, token, amount, operatorSignature);
        return quote.side == BUY
            ? _buy(quote, venueSignature, token, amount)
            : _sell(quote, venueSignature, token, amount);
    }

    function fee(uint8 side, uint256 amount) public view returns (uint256 fee_, uint256 net) {
        if (side == BUY) return Fee.inclusive(amount, feeBps);
        if (side != SELL) revert InvalidSide();
        fee_ = Fee.on(amount, feeBps);
        net = amount - fee_;
    }

    function status() external view returns (uint8 state, uint32 flags) {
        return _status(_venueFlags());
    }

    function status(address asset) external view returns (uint8 state, uint32 flags) {
        flags = _venueFlags();
        if (IVenueManager(manager).gmTokenMintingPaused(asset)) flags |= BUY_LEVEL;
        if (IVenueManager(manager).gmTokenRedemptionsPaused(asset)) flags |= SELL_LEVEL;
        return _status(flags);
    }

    function domainSeparator() external view returns (bytes32) {
        return _domainSeparator();
    }

    function stop() external onlyOwner {
        stopped = true;
        emit Stopped();
    }

    function pause(uint32 flags) external onlyOwner {
        paused = flags;
        emit Paused(flags);
    }

    function setFee(uint256 bps, address recipient) external onlyOwner {
        _setFee(bps, recipient);
    }

    function setOperator(address operator_) external onlyOwner {
        _setOperator(operator_);
    }

    function withdraw(address token, address to, uint256 amount) external onlyOwner nonReentrant {
        if (to == address(0)) revert InvalidAddress();
        emit Withdrawn(token, to, amount);
        token.safeTransfer(to, amount);
    }

    function _buy(Quote calldata quote, bytes calldata signature, address token, uint256 gross)
        private
        returns (uint256)
    {
        (uint256 cut, uint256 net) = fee(BUY, gross);
        _checkCost(quote, token, net);
        _record(quote, token, quote.asset, net, cut, quote.quantity);

        uint256 tokens = token.balanceOf(address(this));
        uint256 assets = quote.asset.balanceOf(address(this));
        token.safeTransferFrom(msg.sender, address(this), gross);
        if (token.balanceOf(address(this)) != tokens + gross) revert SwapFailed(token, quote.asset);
        if (cut != 0) token.safeTransfer(feeRecipient, cut);
        token.safeApproveWithRetry(manager, net);
        IVenueManager(manager).mintWithAttestation(quote, signature, token, net);
        token.safeApprove(manager, 0);
        if (quote.asset.balanceOf(address(this)) < assets + quote.quantity) revert SwapFailed(token, quote.asset);
        quote.asset.safeTransfer(msg.sender, quote.quantity);
        return quote.quantity;
    }

    function _sell(Quote calldata quote, bytes calldata signature, address token, uint256 minimum)
        private
        returns (uint256 net)
    {
        // Increments the count before any token is called. The sums are updated later, when the proceeds are known.
        Totals storage sums = totals[msg.sender][quote.asset][token];
        ++sums.count;

        uint256 tokens = token.balanceOf(address(this));
        quote.asset.safeTransferFrom(msg.sender, address(this), quote.quantity);
        quote.asset.safeApproveWithRetry(manager, quote.quantity);
        IVenueManager(manager).redeemWithAttestation(quote, signature, token, minimum);
        quote.asset.safeApprove(manager, 0);

        uint256 cut;
        (cut, net) = fee(SELL, token.balanceOf(address(this)) - tokens);
        if (net < minimum) revert InsufficientAmount();
        _addSums(sums, quote.quantity, cut, net);
        emit Swapped(msg.sender, quote.asset, token, quote.attestationId, SELL, quote.quantity, cut, net);
        if (cut != 0) token.safeTransfer(feeRecipient, cut);
        token.safeTransfer(msg.sender, net);
    }

    function _record(
        Quote calldata quote,
        address input,
        address output,
        uint256 inputAmount,
        uint256 cut,
        uint256 outputAmount
    ) private {
        Totals storage sums = totals[msg.sender][input][output];
        ++sums.count;
        _addSums(sums, inputAmount, cut, outputAmount);
        emit Swapped(msg.sender, input, output, quote.attestationId, quote.side, inputAmount, cut, outputAmount);
    }

    function _addSums(Totals storage sums, uint256 inputAmount, uint256 cut, uint256 outputAmount) private {
        sums.inputSum += inputAmount;
        sums.feeSum += cut;
        sums.outputSum += outputAmount;
    }

    function _setFee(uint256 bps, address recipient) private {
        if (recipient == address(0)) revert InvalidAddress();
        feeBps = Fee.check(bps);
        feeRecipient = recipient;
        emit FeeChanged(bps, recipient);
    }

    function _setOperator(address operator_) private {
        if (operator_ == address(0)) revert InvalidAddress();
        operator = operator_;
        emit OperatorChanged(operator_);
    }

    function _checkRunning(uint8 side) private view {
        if (stopped) revert IsStopped();
        if (side > SELL) revert InvalidSide();
        uint256 levels = SWAP_LEVEL | (side == BUY ? BUY_LEVEL : SELL_LEVEL);
        if (paused & levels != 0) revert IsPaused(paused);
    }

    /// @dev Padding, offsets and the length must match the strict encoding, so changing any byte of a signed call makes
    /// it revert.
    function _checkCanonical(bytes memory encoded) private pure {
        if (keccak256(msg.data) != keccak256(encoded)) revert InvalidCalldata();
    }

    function _checkRequest(Quote calldata quote, address token, uint256 amount, bytes calldata signature)
        private
        view
    {
        (address input, address output) = quote.side == BUY ? (token, quote.asset) : (quote.asset, token);
        bytes32 request = keccak256(
            abi.encode(
                VERIFY_REQUEST_TYPEHASH,
                quote.side,
                input,
                output,
                msg.sender,
                totals[msg.sender][input][output].count,
                quote.expiration,
                amount
            )
        );
        if (!SignatureCheckerLib.isValidSignatureNowCalldata(operator, _hashTypedData(request), signature)) {
            revert Unauthorized();
        }
    }

    /// @dev A net payment below the cost underflows and reverts with `Panic(0x11)`.
    function _checkCost(Quote calldata quote, address token, uint256 net) private view {
        uint256 cost = FixedPointMathLib.fullMulDiv(quote.quantity, quote.price, 1e18);
        uint256 surplus = net * 10 ** (18 - MetadataReaderLib.readDecimals(token)) - cost;
        if (surplus >= TOLERANCE) revert InvalidAmount();
    }

    function _venueFlags() private view returns (uint32 flags) {
        if (IVenueManager(manager).globalMintingPaused()) flags |= BUY_LEVEL;
        if (IVenueManager(manager).globalRedeemingPaused()) flags |= SELL_LEVEL;
    }

    function _status(uint32 venue) private view returns (uint8 state, uint32 flags) {
        flags = paused | venue;
        if (stopped) return (2, flags);
        return (flags & (SWAP_LEVEL | BUY_LEVEL | SELL_LEVEL) == 0 ? 0 : 1, flags);
    }

    function _domainNameAndVersion() internal view override returns (string memory, string memory) {
        return (LibString.unpackOne(_name), "1");
    }

    /// @dev The name is set after the base constructor runs, so the base must not cache the domain separator.
    function _domainNameAndVersionMayChange() internal pure override returns (bool) {
        return true;
    }
}
