// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Ownable} from "solady/auth/Ownable.sol";
import {ECDSA} from "solady/utils/ECDSA.sol";
import {SafeTransferLib} from "solady/utils/SafeTransferLib.sol";
import {IVenueManager, Quote} from "../../src/venue/IVenueManager.sol";

/// @dev A tokenized swap of another generation. It exposes neither its signer nor `eip712Domain()`. Its status has
/// three words, with one state per side. Its `Swapped` event has the same topic, but other indexed arguments and the
/// gross amount.
contract OtherTokenizedSwap is Ownable {
    using SafeTransferLib for address;

    struct Totals {
        uint256 inputSum;
        uint256 feeSum;
        uint256 outputSum;
        uint256 count;
    }

    event Swapped(
        address user,
        address indexed inputToken,
        address indexed outputToken,
        uint256 attestationId,
        uint8 indexed side,
        uint256 inputAmount,
        uint256 fee,
        uint256 outputAmount
    );

    error InvalidAmount();

    bytes32 private constant REQUEST = keccak256(
        "VerifyRequest(uint8 side,address inputToken,address outputToken,address sender,uint256 nonce,uint256 expiry,uint256 amount)"
    );
    uint256 private constant BPS = 10_000;
    uint256 private constant FEE_BPS = 50;

    address public immutable manager;
    bytes32 public immutable domainSeparator;
    address private _signer;
    uint32 private _flags;
    mapping(address user => mapping(address input => mapping(address output => Totals))) public totals;

    constructor(address manager_, address signer, string memory name) {
        _initializeOwner(msg.sender);
        manager = manager_;
        _signer = signer;
        domainSeparator = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256(bytes(name)),
                keccak256("1"),
                block.chainid,
                address(this)
            )
        );
    }

    function rotate(address signer) external onlyOwner {
        _signer = signer;
    }

    function setFlags(uint32 flags) external onlyOwner {
        _flags = flags;
    }

    function status(address asset) external view returns (uint32 flags, uint8 buyState, uint8 sellState) {
        IVenueManager venue = IVenueManager(manager);
        bool noBuys = venue.globalMintingPaused() || venue.gmTokenMintingPaused(asset);
        bool noSales = venue.globalRedeemingPaused() || venue.gmTokenRedemptionsPaused(asset);
        return (_flags, noBuys ? 1 : 0, noSales ? 1 : 0);
    }

    function fee(uint8, uint256 amount) public pure returns (uint256 fee_, uint256 net) {
        net = amount * BPS / (BPS + FEE_BPS);
        fee_ = amount - net;
    }

    function swap(
        Quote calldata quote,
        bytes calldata venueSignature,
        address token,
        uint256 amount,
        bytes calldata operatorSignature
    ) external returns (uint256) {
        if (quote.side != 0) revert InvalidAmount();
        _checkRequest(quote, token, amount, operatorSignature);
        (uint256 cut, uint256 net) = fee(0, amount);
        token.safeTransferFrom(msg.sender, address(this), amount);
        token.safeApproveWithRetry(manager, net);
        IVenueManager(manager).mintWithAttestation(quote, venueSignature, token, net);
        quote.asset.safeTransfer(msg.sender, quote.quantity);
        _record(quote, token, amount, cut);
        return quote.quantity;
    }

    function _record(Quote calldata quote, address token, uint256 amount, uint256 cut) private {
        Totals storage sums = totals[msg.sender][token][quote.asset];
        ++sums.count;
        sums.inputSum += amount;
        sums.feeSum += cut;
        sums.outputSum += quote.quantity;
        emit Swapped(
            msg.sender, token, quote.asset, quote.attestationId, quote.side, amount, cut, quote.quantity
        );
    }

    function _checkRequest(Quote calldata quote, address token, uint256 amount, bytes calldata signature)
        private
        view
    {
        uint256 nonce = totals[msg.sender][token][quote.asset].count;
        bytes32 request = keccak256(
            abi.encode(REQUEST, quote.side, token, quote.asset, msg.sender, nonce, quote.expiration, amount)
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", domainSeparator, request));
        if (ECDSA.tryRecoverCalldata(digest, signature) != _signer) revert Unauthorized();
    }
}
